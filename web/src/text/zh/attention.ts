/** What waits for a person and how the page says so, in Chinese. */

import type { attention as english } from "@/text/en/attention";

export const attention: typeof english = {
  badgeWaiting: "待处理",
  badgeRunning: "运行中",
  chatWaits: "等待你回应",
  chatWorks: "运行中",
  waitsForYou: (subject) => `Dovetail 正在等你：${subject}`,
  anApproval: "审批",
  aQuestion: "提问",
  waitingList: (count) => `${count} 项等待你回应`,
  nothingWaits: "没有等待你回应的事项。",
  askedSince: (agent, age) => (agent === "" ? age : `${agent} · ${age}`),
  seeChange: "查看改动",
  seeAsk: (subject) => `查看改动：${subject}`,
  allowAsk: (subject) => `允许：${subject}`,
  declineAsk: (subject) => `拒绝：${subject}`,
  connectionLost: "无法连接服务器，正在重试…",
  connectionBack: "已重新连接。",
  attentionSettings: "任一对话中有智能体等待你时：",
  notifySwitch: "显示通知",
  notifyHint: "仅在看不到本页面时显示，点击通知即可打开对话。",
  notifyDenied: "浏览器禁止本页面发送通知，请先在网站设置中允许。",
  notifyUnsupported: "此浏览器无法显示本页面的通知。",
  soundSwitch: "播放提示音",
  soundHint: "仅在看不到本页面时播放。",
};
