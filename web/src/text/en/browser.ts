/** Pages opened by tools, in English. */
export const browser = {
  pages: "Pages",
  openInTab: "Open in a tab",
  openAgain: "Open next to the chat",
  openInOwnTab: "Open in a new tab",
  pageOpens: "Opening the page…",
  frameRefused: (host: string) => `${host} does not allow other pages to show it. Open it in a tab of its own.`,
  closePage: (title: string) => `Close ${title}`,
};
