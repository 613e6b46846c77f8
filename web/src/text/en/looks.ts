/** Extension folders and what they bring for the page. */

export const looks = {
  extensionsHint: "Folders that bring tools, agents and skills, and cards for this page.",
  lookFailed: "The page draws these calls itself.",
  lookCards: (tools: string) => `Card: ${tools}`,
  lookBrowserTools: (tools: string) => `In the browser: ${tools}`,
  excludedFolders: (names: string) => `Left out by the settings: ${names}.`,
  reloadCount: (count: number) => (count === 1 ? "Loaded once" : `Loaded ${count} times`),
};
