// The state of a chat for the npm package `ai`, and how to wait until it is as a scenario needs it.

let wake = () => {};
let change = new Promise((resolve) => (wake = resolve));

const note = () => {
  wake();
  change = new Promise((resolve) => (wake = resolve));
};

export class State {
  error = undefined;
  #status = "ready";
  #messages;

  constructor(messages = []) {
    this.#messages = messages;
  }
  get status() {
    return this.#status;
  }
  set status(status) {
    this.#status = status;
    note();
  }
  get messages() {
    return this.#messages;
  }
  set messages(messages) {
    this.#messages = messages;
    note();
  }
  pushMessage = (message) => (this.messages = [...this.messages, message]);
  popMessage = () => (this.messages = this.messages.slice(0, -1));
  replaceMessage = (index, message) => (this.messages = this.messages.with(index, structuredClone(message)));
  snapshot = (value) => structuredClone(value);
}

/** Waits for a condition, without a time limit: the test that runs the scenario has one. */
export const until = async (condition) => {
  while (!condition()) await change;
};
