/** Models, in English. */
export const models = {
  model: "Model",
  defaultModel: "Automatic",
  noModel: "No model",
  modelDownloading: (name: string) => `Downloading ${name}`,
  questionsWait: "Questions are kept and answered when it is here.",
  modelStandsIn: (name: string) => `${name} answers for now: its answers are placeholders.`,
  modelStandsInHint: "Run `dovetail models pull good`, or set DOVETAIL_MODEL.",
  modelForNow: (name: string) => `Using ${name} for now.`,
  modelFailed: (name: string) => `Could not download ${name}.`,
  modelMissing: "No model available yet.",
  modelMissingHint: "Run `dovetail models pull good`, or set DOVETAIL_MODEL and DOVETAIL_API_KEY.",
  /** Links of errors to the place that repairs them. */
  remedies: { keys: "Open the keys of providers", models: "Open the models" },
  onlyOperator: "Only the operator of this server can change this, with its admin token.",
  ofSize: (done: string, total: string) => `${done} of ${total}`,
};
