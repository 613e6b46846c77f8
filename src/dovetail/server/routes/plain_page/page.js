// The built-in page: one chat, streamed. It is served when the web client has not been built.

const element = (id) => document.getElementById(id);
const thread = element("thread");
const field = element("text");
const button = element("send");
let session = location.hash.slice(1);
let runId = null;

function add(kind, text = "") {
  const block = document.createElement("div");
  block.className = kind;
  block.textContent = text;
  thread.append(block);
  thread.scrollTop = thread.scrollHeight;
  return block;
}

function setRunning(running) {
  button.textContent = running ? "Stop" : "Send";
  button.dataset.running = running ? "yes" : "";
}

async function readError(response) {
  const body = await response.json().catch(() => null);
  const error = body?.error;
  return error ? [error.message, error.hint].filter(Boolean).join("\n") : `${response.status} ${response.statusText}`;
}

/** Shows the chunks of one answer as they arrive. */
async function show(response) {
  const calls = new Map();
  const waiting = add("assistant waiting");
  let text = null;
  const take = (chunk) => {
    waiting.remove();
    if (chunk.type === "start") runId = chunk.messageMetadata?.run_id ?? null;
    else if (chunk.type === "text-start") text = add("assistant");
    else if (chunk.type === "text-delta") text.append(chunk.delta);
    else if (chunk.type === "tool-input-available") calls.set(chunk.toolCallId, addCall(chunk));
    else if (chunk.type === "tool-output-available") endCall(calls.get(chunk.toolCallId), chunk.output);
    else if (chunk.type === "tool-output-error") endCall(calls.get(chunk.toolCallId), `failed: ${chunk.errorText}`);
    else if (chunk.type === "tool-output-denied") endCall(calls.get(chunk.toolCallId), "declined");
    else if (chunk.type === "data-ask" && chunk.data.kind === "approval") approve(chunk.data);
    else if (chunk.type === "error") add("error", chunk.errorText);
    thread.scrollTop = thread.scrollHeight;
  };
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const line = event.split("\n").find((part) => part.startsWith("data: "));
      if (line && line !== "data: [DONE]") take(JSON.parse(line.slice(6)));
    }
  }
  waiting.remove();
}

function addCall(chunk) {
  return add("tool", `${chunk.title ?? chunk.toolName} ${JSON.stringify(chunk.input)}`);
}

function endCall(block, output) {
  if (block) block.append(`\n→ ${typeof output === "string" ? output : JSON.stringify(output)}`);
}

/** JSON in which a call hides nothing: what is not drawn is an escape, runs of blanks are counted. */
function showExactly(data) {
  const hidden = /(?!\n)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
  return JSON.stringify(data, null, 2)
    .replace(hidden, (found) => `\\u{${found.codePointAt(0).toString(16)}}`)
    .replace(/\p{Zs}{25,}/gu, (found) => `␣×${found.length}`);
}

async function approve(ask) {
  const approved = confirm(`Allow this call?\n\n${showExactly(ask.payload)}`);
  await post(`/api/v1/asks/${ask.ask_id}`, { approved });
}

function post(path, body) {
  const headers = { "content-type": "application/json", accept: "text/event-stream" };
  return fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
}

/** Follows an answer to its end; whatever goes wrong is said in words. */
async function follow(request) {
  setRunning(true);
  try {
    const response = await request;
    if (response.status === 204) return;
    if (response.ok) await show(response);
    else add("error", await readError(response));
  } catch (error) {
    add("error", `The server cannot be reached: ${error.message}`);
  } finally {
    runId = null;
    setRunning(false);
  }
}

async function send() {
  const text = field.value.trim();
  if (text === "") return;
  field.value = "";
  session ||= crypto.randomUUID();
  history.replaceState(null, "", `#${session}`);
  add("user", text);
  await follow(post("/api/v1/chat", { message: text, session_id: session, tab_id: "plain" }));
}

async function load() {
  if (session === "") return;
  const response = await fetch(`/api/v1/sessions/${encodeURIComponent(session)}`);
  if (!response.ok) return;
  for (const message of (await response.json()).path) {
    for (const part of message.parts) {
      if (part.type === "text") add(message.role, part.text);
      else if (part.type === "dynamic-tool") endCall(addCall(part), part.output ?? part.errorText ?? part.state);
    }
    if (message.metadata.error) add("error", message.metadata.error.message);
  }
  await follow(fetch(`/api/v1/chat/${encodeURIComponent(session)}/stream`));
}

async function showModels() {
  const response = await fetch("/api/v1/models").catch(() => null);
  if (!response?.ok) return;
  const { models } = await response.json();
  const active = models.find((model) => model.active);
  const coming = models.find((model) => model.state === "downloading");
  const failed = models.find((model) => model.state === "failed");
  const parts = [active ? active.name : "no model"];
  if (coming) parts.push(`${coming.name}: ${Math.floor((100 * coming.progress.done) / coming.progress.total)} %`);
  if (failed) parts.push(`${failed.name}: ${failed.error}`);
  element("model").textContent = parts.join(" · ");
  setTimeout(showModels, coming ? 1000 : 15000);
}

element("form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (button.dataset.running) {
    if (runId) post(`/api/v1/runs/${runId}/cancel`, { mode: "now" });
  } else send();
});
field.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    if (!button.dataset.running) send();
  }
});
element("new").addEventListener("click", () => {
  location.hash = "";
  location.reload();
});
showModels();
load();
