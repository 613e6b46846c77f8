/** Extension folders and what they bring for the page, in Chinese. */

import type { looks as english } from "@/text/en/looks";

export const looks: typeof english = {
  extensionsHint: "扩展文件夹提供工具、智能体和技能，也可以为本页面提供卡片。",
  lookFailed: "这些调用由页面自行显示。",
  lookCards: (tools) => `卡片：${tools}`,
  lookBrowserTools: (tools) => `在浏览器中执行：${tools}`,
  excludedFolders: (names) => `设置中已排除：${names}。`,
  reloadCount: (count) => `已加载 ${count} 次`,
};
