// biome-ignore-all lint/suspicious/noExplicitAny: each tool has its own input and output
/**
 * What the page offers to a module in `extensions/<folder>/web/`, which default-exports
 * `function register(dovetail: Dovetail)`. Version 1: later versions add to it and change nothing.
 */

/** How a tool call stands. */
export type CallState = "writing" | "waiting" | "running" | "done" | "failed" | "denied" | "interrupted";

/** A tool call, as plain data. */
export interface CardProps {
  toolName: string;
  callId: string;
  /** The arguments of the call; incomplete in the state "writing". */
  input: any;
  /** The result of the tool; while it runs, its latest progress, if any. */
  output: any;
  state: CallState;
  /** Why the call has failed. */
  error: string | null;
  /** Whether the answer that contains the call is still in progress. */
  isLive: boolean;
  /** The language of the page. */
  language: "en" | "zh";
}

export type Card = import("react").ComponentType<CardProps>;

export interface CardOptions {
  /** The states in which the card is drawn; in all others the page draws the call itself. Default: `["done"]`. */
  states?: readonly CallState[];
}

export interface BrowserCallInfo {
  toolName: string;
  callId: string;
  /** Identifies this tab of the browser. */
  tabId: string;
}

/** Does what the tool promises; the return value (JSON) is its result, an exception its error. */
export type BrowserTool = (input: any, call: BrowserCallInfo) => unknown;

export interface Dovetail {
  readonly version: 1;
  /** The name of the extension folder. */
  readonly folder: string;
  /** The React of the page; a second copy would not work with it. */
  readonly React: typeof import("react");
  /** Draws the calls of a tool, below the line with its title and state. */
  card(toolName: string, card: Card, options?: CardOptions): void;
  /** Carries out the calls of a tool that is declared with `"browser": True`. */
  browserTool(toolName: string, handler: BrowserTool): void;
}

export type Register = (dovetail: Dovetail) => void | Promise<void>;
