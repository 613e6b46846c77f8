// Reads streams with the npm package `ai`. Usage: node ai_reader.mjs <ai package>
// Takes a JSON list of lists of chunks on stdin and prints the parts of each message as JSON.

import { text } from "node:stream/consumers";

const ai = await import(process.argv[2]);

async function read(chunks) {
  const stream = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  let last = { parts: [] };
  for await (const message of ai.readUIMessageStream({ stream, onError: () => {} })) last = message;
  return last.parts;
}

const answers = [];
for (const chunks of JSON.parse(await text(process.stdin))) answers.push(await read(chunks));
process.stdout.write(JSON.stringify(answers));
