/** Models, in English. */
export const models = {
  model: "Model",
  defaultModel: "Automatic",
  noModel: "No model",
  modelDownloading: (name: string) => `Downloading ${name}`,
  modelForNow: (name: string) => `Using ${name} for now.`,
  modelFailed: (name: string) => `Could not download ${name}.`,
  modelMissing: "No model available yet.",
  modelMissingHint: "Run `dovetail models pull small`, or set DOVETAIL_MODEL and DOVETAIL_API_KEY.",
  ofSize: (done: string, total: string) => `${done} of ${total}`,
};
