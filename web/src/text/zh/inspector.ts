/** The inspector of runs, in Chinese. */

import type { inspector as english } from "@/text/en/inspector";

export const inspector: typeof english = {
  run: "运行",
  inspectRun: "查看这次运行",
  inspectorHint: "一次运行中发生的一切，按记录显示。",
  noRun: "先提一个问题，或在回答下方选择“查看这次运行”。",
  agent: "智能体",
  runState: "状态",
  time: "时间",
  turns: "轮次",
  turn: "轮",
  turnNumber: (number) => `第 ${number} 轮`,
  callCount: (count) => `${count} 次调用`,
  tokensName: "词元",
  cost: "费用",
  prompt: "提示词",
  cached: (count: string) => `其中缓存 ${count}`,
  cacheWritten: (count: string) => `写入缓存 ${count}`,
  reasoningTokens: (count: string) => `推理 ${count}`,
  messageCount: (count: number, fresh: number) =>
    fresh < count ? `${count} 条消息，新增 ${fresh} 条` : `${count} 条消息`,
  summaryRequest: "旧消息的摘要",
  requestSent: (count: number, model: string) => `向 ${model} 发送了 ${count} 条消息`,
  copyRequest: "复制全部消息",
  messagesBefore: (count: number) => `前 ${count} 条与上次请求相同`,
  showCharacters: (count: number) => `再显示 ${count} 个字符`,
  toolsOffered: (choice: string) => `提供的工具（${choice}）：`,
  answerText: "文本",
  finishReasons: {
    stop: "正常结束",
    "tool-calls": "调用工具",
    length: "达到长度上限",
    "content-filter": "被内容过滤",
    error: "出错",
  } as Record<string, string>,
  askKinds: { approval: "审批", browser: "浏览器", question: "提问" } as Record<string, string>,
  tool: "工具",
  question: "提问",
};
