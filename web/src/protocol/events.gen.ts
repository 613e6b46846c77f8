// Made from src/dovetail/events/run_events.py by web/scripts/generate_events.py; do not edit.

/** Tokens of one or more requests; `cost` is in the price table's currency, if prices are known. */
export interface Usage {
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  reasoning_tokens: number;
  cost: number | null;
  cache_write_tokens: number;
}

/** How long a request to a model took, in seconds. */
export interface RequestTiming {
  seconds: number;
  first_token: number | null;
  waited: number;
  retries: string[];
}

/** The run begins; `setup` is what a run below another one keeps if it resumes after a restart. */
export interface RunStartEvent {
  type: "run-start";
  agent: string;
  model: string;
  generation: number;
  session_id: string | null;
  parent_call_id: string | null;
  setup: Record<string, unknown> | null;
}

/** A request goes to a model: the first `kept` messages of this run's last request, and then these. */
export interface ModelRequestEvent {
  type: "model-request";
  turn: number;
  model: string;
  messages: Record<string, unknown>[];
  kept: number;
  tools: string[];
  tool_choice: string;
  purpose: "answer" | "summary";
}

/** How far the model is before its first token: bytes of its `download`, or tokens that it has `read`. */
export interface ModelProgressEvent {
  type: "model-progress";
  phase: "download" | "read";
  done: number;
  total: number;
}

/** A model's answer is complete, and its turn is not over yet: the calls in it come next. */
export interface ModelResponseEvent {
  type: "model-answer";
  turn: number;
  usage: Usage;
  purpose: "answer" | "summary";
}

/** A piece of answer text begins. */
export interface TextStartEvent {
  type: "text-start";
  id: string;
}

/** More of a piece of answer text (`text-delta`). */
export interface TextDeltaEvent {
  type: "text-delta";
  id: string;
  delta: string;
}

/** A piece of answer text is complete. */
export interface TextEndEvent {
  type: "text-end";
  id: string;
}

/** A piece of reasoning begins. */
export interface ReasoningStartEvent {
  type: "reasoning-start";
  id: string;
}

/** More of a piece of reasoning (`reasoning-delta`). */
export interface ReasoningDeltaEvent {
  type: "reasoning-delta";
  id: string;
  delta: string;
}

/** A piece of reasoning is complete. */
export interface ReasoningEndEvent {
  type: "reasoning-end";
  id: string;
}

/** A part of the answer for its provider only, after `text` characters of the turn and `calls` calls. */
export interface ProviderPartEvent {
  type: "provider-part";
  source: string;
  data: Record<string, unknown>;
  text: number;
  calls: number;
}

/** The model begins to write a call's arguments. */
export interface ToolInputStartEvent {
  type: "tool-input-start";
  call_id: string;
  name: string;
}

/** More of a call's arguments as text (`tool-input-delta`). */
export interface ToolInputDeltaEvent {
  type: "tool-input-delta";
  call_id: string;
  delta: string;
}

/** A call's arguments are complete. */
export interface ToolInputEndEvent {
  type: "tool-input-end";
  call_id: string;
  name: string;
  args: unknown;
}

/** The calls of a turn are held until questions about these are answered; all are asked at once. */
export interface ToolHoldEvent {
  type: "tool-hold";
  call_ids: string[];
}

/** A call begins to execute; one that `may_repeat` is made again after a crash. */
export interface ToolStartEvent {
  type: "tool-start";
  call_id: string;
  kind: string;
  title: string;
  may_repeat: boolean;
}

/** A running call shows its output so far. */
export interface ToolProgressEvent {
  type: "tool-progress";
  call_id: string;
  output: unknown;
}

/** A running call has held the event loop for these seconds, so that nothing else in its process moved. */
export interface ToolStallEvent {
  type: "tool-stall";
  call_id: string;
  seconds: number;
  where: string;
}

/** A call has its one result. */
export interface ToolEndEvent {
  type: "tool-end";
  call_id: string;
  status: "ok" | "error" | "denied" | "timeout" | "interrupted";
  result: unknown;
  error: Record<string, unknown> | null;
  duration: number;
}

/** An answer from outside is needed: a person approves, a browser acts. */
export interface AskRequestEvent {
  type: "ask-request";
  ask_id: string;
  kind: "approval" | "browser" | "question";
  call_id: string;
  payload: Record<string, unknown>;
  timeout: number | null;
}

/** The answer to an ask; an ask has at most one. */
export interface AskAnswerEvent {
  type: "ask-answer";
  ask_id: string;
  value: unknown;
}

/** A message that reached the run while it was in progress: people see `parts`, the model `content`. */
export interface UserMessageEvent {
  type: "user-message";
  message_id: string;
  kind: "steer" | "notice";
  parts: Record<string, unknown>[];
  content: Record<string, unknown>[];
}

/** One turn is over: a model answer and the results of its calls. */
export interface TurnEndEvent {
  type: "turn-end";
  turn: number;
  usage: Usage;
  finish_reason: string;
  model: string;
  timing: RequestTiming | null;
}

/** The answer of this turn so far is void: the run was resumed after a crash and asks again. */
export interface TurnResetEvent {
  type: "turn-reset";
}

/** The run resumes after a crash; events after number `after` were not stored and are void. */
export interface RunResumeEvent {
  type: "run-resume";
  after: number;
}

/** The run is over; the last event of every run. */
export interface RunEndEvent {
  type: "run-end";
  reason: "goal" | "max-turns" | "max-tokens" | "max-cost" | "max-calls" | "timeout" | "no-completion" | "cancelled" | "error" | "interrupted";
  result: unknown;
  usage: Usage;
  error: Record<string, unknown> | null;
  limit: "goal" | "max-turns" | "max-tokens" | "max-cost" | "max-calls" | "timeout" | "no-completion" | "cancelled" | "error" | "interrupted" | null;
  notice: string | null;
}

export type RunEvent =
  | RunStartEvent
  | ModelRequestEvent
  | ModelProgressEvent
  | ModelResponseEvent
  | TextStartEvent
  | TextDeltaEvent
  | TextEndEvent
  | ReasoningStartEvent
  | ReasoningDeltaEvent
  | ReasoningEndEvent
  | ProviderPartEvent
  | ToolInputStartEvent
  | ToolInputDeltaEvent
  | ToolInputEndEvent
  | ToolHoldEvent
  | ToolStartEvent
  | ToolProgressEvent
  | ToolStallEvent
  | ToolEndEvent
  | AskRequestEvent
  | AskAnswerEvent
  | UserMessageEvent
  | TurnEndEvent
  | TurnResetEvent
  | RunResumeEvent
  | RunEndEvent;

/** One journal entry: an event with its number, its run's path from the root, and its time. */
export type RunEntry = RunEvent & {
  number: number;
  run_id: string;
  path: string[];
  time: number;
};
