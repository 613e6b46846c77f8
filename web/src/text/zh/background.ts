/** Background tasks, in Chinese. */

import type { background as english } from "@/text/en/background";

export const background: typeof english = {
  backgroundTasks: "后台任务",
  taskStates: { queued: "排队中", running: "运行中", waiting: "等待你回应" },
  taskCounts: {
    queued: (count) => `${count} 个排队中`,
    running: (count) => `${count} 个运行中`,
    waiting: (count) => `${count} 个等待你回应`,
    ended: (count) => `${count} 个已结束`,
  },
  comma: "，",
  open: "打开",
  openTask: (agent, title) => `打开 ${agent} 的任务${title === "" ? "" : `：${title}`}`,
  messageTask: (agent) => `给 ${agent} 发消息`,
  continueTask: (agent) => `让 ${agent} 继续`,
  cancelTask: (agent) => `停止 ${agent}`,
  taskHasEnded: (agent) => `${agent} 的后台任务已结束。`,
  origin: "此对话的来源",
  backToChat: "返回对话",
  startedInBackground: (agent) => (agent === "" ? "后台任务" : `${agent} 的后台任务`),
  startedBySchedule: (time) => `由定时计划启动：${time}`,
  scheduledChat: "由定时计划启动",
};
