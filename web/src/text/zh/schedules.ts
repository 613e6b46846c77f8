/** Schedules, in Chinese. */

import type { schedules as english } from "@/text/en/schedules";

export const schedules: typeof english = {
  schedules: "定时计划",
  schedulesHint: "按时间自动运行的智能体。时间按你的时区显示。",
  noSchedules: "还没有定时计划。",
  addSchedule: "添加定时计划",
  scheduleField: "时间",
  scheduleFieldHint: "分钟、小时、日、月、星期，以及时区。",
  scheduleTitle: "标题",
  scheduleMissed: "服务器停机之后",
  missedLatest: "补运行最近一次错过的时间",
  missedSkip: "跳过错过的时间",
  scheduleNext: (time) => `下次：${time}`,
  schedulePaused: "已暂停",
  scheduleLast: (time) => `上次：${time}`,
  tickStates: {
    queued: "等待对话空闲",
    skipped: "已跳过",
    failed: "失败",
    manual: "手动运行",
  },
  fromAgentFile: "来自智能体文件",
  pauseSchedule: "暂停",
  resumeSchedule: "恢复",
  runScheduleNow: "立即运行",
  removeSchedule: (name) => `删除定时计划“${name}”？`,
  removeScheduleHint: "它启动过的对话会保留。",
  cron: {
    everyMinutes: (count) => (count === 1 ? "每分钟" : `每 ${count} 分钟`),
    everyHours: (count, minute) => (count === 1 ? `每小时第 ${minute} 分钟` : `每 ${count} 小时第 ${minute} 分钟`),
    daily: (times) => `每天 ${times}`,
    weekdays: (times) => `周一至周五 ${times}`,
    onDays: (days, times) => `${days} ${times}`,
    monthly: (day, times) => `每月 ${day} 日 ${times}`,
    inZone: (words, zone) => `${words}（${zone}）`,
  },
};
