// Start aimock on a free loopback port, print the port, and run until standard input ends.
// Requests are recorded as they came (aimock's own journal converts and masks them), and a test can queue
// raw answers, which are sent byte for byte instead of aimock's.
import { createRequire } from "node:module";

const require = createRequire(process.argv[2]);
const { createServer } = require("@copilotkit/aimock");

const requests = [];
const answers = [];
let waiting = [];

const read = async (request) => {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString();
};

const send = (response, data) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(data));
};

const control = async (request, response) => {
  if (request.method === "POST") answers.push(JSON.parse(await read(request)));
  if (request.method === "DELETE") requests.length = answers.length = 0;
  waiting.push({ count: Number(request.url.split("=")[1] ?? 0), response });
  release();
};

const release = () => {
  for (const { response, count } of waiting) if (requests.length >= count) send(response, requests);
  waiting = waiting.filter(({ count }) => requests.length < count);
};

const play = (answer, response) => {
  response.writeHead(answer.status, answer.headers);
  const pieces = answer.pieces.map((piece) => Buffer.from(piece, "base64"));
  const step = () => {
    if (pieces.length > 0) return response.write(pieces.shift(), () => setImmediate(step));
    if (answer.ending === "reset") return response.socket.resetAndDestroy();
    return answer.ending === "end" ? response.end() : undefined;
  };
  step();
};

const record = (request) => {
  const pieces = [];
  const entry = { method: request.method, path: request.url, headers: { ...request.headers }, body: null };
  requests.push(entry);
  const emit = request.emit;
  request.emit = function (name, ...details) {
    if (name === "data") pieces.push(details[0]);
    if (name === "end") {
      entry.body = Buffer.concat(pieces).toString("base64");
      release();
    }
    return emit.call(this, name, ...details);
  };
};

const { server } = await createServer([], { port: 0, host: "127.0.0.1", logLevel: "silent" });
const [mock] = server.listeners("request");
server.removeAllListeners("request");
server.on("request", (request, response) => {
  if (request.url.startsWith("/__test")) return control(request, response);
  if (request.url.startsWith("/__aimock")) return mock(request, response);
  record(request);
  const answer = answers.shift();
  if (answer === undefined) return mock(request, response);
  request.on("end", () => play(answer, response));
  return request.resume();
});

process.stdin.on("end", () => process.exit(0)).resume();
console.log(server.address().port);
