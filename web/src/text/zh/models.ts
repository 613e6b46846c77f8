/** Models, in Chinese. */

import type { models as english } from "@/text/en/models";

export const models: typeof english = {
  model: "模型",
  defaultModel: "自动",
  noModel: "没有模型",
  modelDownloading: (name) => `正在下载 ${name}`,
  questionsWait: "问题会先保存，模型就绪后立即回答。",
  modelStandsIn: (name) => `目前由 ${name} 回答：它的回答只是占位内容。`,
  modelStandsInHint: "运行 `dovetail models pull good`，或设置 DOVETAIL_MODEL。",
  modelForNow: (name) => `目前使用 ${name}。`,
  modelFailed: (name) => `${name} 下载失败。`,
  modelMissing: "还没有可用的模型。",
  modelMissingHint: "运行 `dovetail models pull good`，或设置 DOVETAIL_MODEL 与 DOVETAIL_API_KEY。",
  remedies: { keys: "打开各服务商的密钥", models: "打开模型列表" },
  onlyOperator: "只有持有管理令牌的服务器管理员才能更改。",
  ofSize: (done, total) => `${done} / ${total}`,
};
