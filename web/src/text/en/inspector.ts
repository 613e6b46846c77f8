/** The inspector of runs, in English. */
export const inspector = {
  run: "Run",
  inspectRun: "Inspect this run",
  inspectorHint: "Everything that happened in a run, as it was recorded.",
  noRun: "Ask something first, or choose “Inspect this run” below an answer.",
  agent: "Agent",
  runState: "State",
  time: "Time",
  runCreated: "Created",
  runStarted: "Started",
  runInQueue: "in the queue",
  queueWaited: (time: string) => `waited ${time} in the queue`,
  firstToken: (time: string) => `first token after ${time}`,
  requestTook: (time: string) => `request ${time}`,
  requestWaited: (time: string) => `waited ${time}`,
  retried: (count: number, causes: string) => `${count === 1 ? "1 retry" : `${count} retries`} (${causes})`,
  turns: "Turns",
  turn: "Turn",
  turnNumber: (number: string) => `Turn ${number}`,
  callCount: (count: number) => (count === 1 ? "1 call" : `${count} calls`),
  tokensName: "Tokens",
  cost: "Cost",
  answerText: "Text",
  prompt: "Prompt",
  cached: (count: string) => `${count} cached`,
  cacheWritten: (count: string) => `${count} written to cache`,
  reasoningTokens: (count: string) => `${count} reasoning`,
  messageCount: (count: number, fresh: number) => {
    const total = count === 1 ? "1 message" : `${count} messages`;
    return fresh < count ? `${total}, ${fresh} new` : total;
  },
  summaryRequest: "Summary of older messages",
  requestSent: (count: number, model: string) => `${count === 1 ? "1 message" : `${count} messages`} sent to ${model}`,
  copyRequest: "Copy all messages",
  messagesBefore: (count: number) =>
    count === 1
      ? "1 message unchanged since the previous request"
      : `${count} messages unchanged since the previous request`,
  showCharacters: (count: number) => `Show ${count} more characters`,
  toolsOffered: (choice: string) => `Tools offered (${choice}):`,
  /** Why a model has ended a turn. */
  finishReasons: { "tool-calls": "tool calls", "content-filter": "content filter" } as Record<string, string>,
  askKinds: { approval: "Approval", browser: "Browser", question: "Question" } as Record<string, string>,
  tool: "Tool",
  question: "Question",
};
