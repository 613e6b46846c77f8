/** Background tasks, in English. */
export const background = {
  backgroundTasks: "Background tasks",
  taskStates: { queued: "Queued", running: "Working", waiting: "Waiting for you" },
  taskCounts: {
    queued: (count: number) => `${count} queued`,
    running: (count: number) => `${count} working`,
    waiting: (count: number) => `${count} waiting for you`,
    ended: (count: number) => `${count} ended`,
  },
  comma: ", ",
  open: "Open",
  openTask: (agent: string, title: string) => `Open the task of ${agent}${title === "" ? "" : `: ${title}`}`,
  messageTask: (agent: string) => `Message ${agent}`,
  continueTask: (agent: string) => `Have ${agent} continue`,
  cancelTask: (agent: string) => `Stop ${agent}`,
  taskHasEnded: (agent: string) => `The background task of ${agent} has ended.`,
  origin: "Where this chat comes from",
  backToChat: "Back to the chat",
  startedInBackground: (agent: string) => `Background task${agent === "" ? "" : ` of ${agent}`}`,
  startedBySchedule: (time: string) => `Started by a schedule on ${time}`,
  scheduledChat: "Started by a schedule",
};
