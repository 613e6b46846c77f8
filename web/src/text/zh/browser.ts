/** Pages opened by tools, in Chinese. */

import type { browser as english } from "@/text/en/browser";

export const browser: typeof english = {
  pages: "网页",
  openInTab: "在标签页中打开",
  openAgain: "在对话旁打开",
  openInOwnTab: "在新标签页中打开",
  pageOpens: "正在打开网页…",
  frameRefused: (host) => `${host} 不允许在其他页面中显示，请在单独的标签页中打开。`,
  closePage: (title) => `关闭 ${title}`,
};
