/** The title and the icon of the tab: how many chats wait, and whether one works. */

import type { Text } from "@/text/text";

export interface Badge {
  waiting: number;
  running: number;
}

export function titleFor({ waiting, running }: Badge, t: Text): string {
  if (waiting > 0) return `(${waiting}) ${t.badgeWaiting} · ${t.appName}`;
  return running > 0 ? `${t.badgeRunning} · ${t.appName}` : t.appName;
}

export function iconFor({ waiting, running }: Badge): string {
  if (waiting > 0) return "/favicon-waiting.svg";
  return running > 0 ? "/favicon-running.svg" : "/favicon.svg";
}

export function showBadge(badge: Badge, t: Text): void {
  document.title = titleFor(badge, t);
  const link = document.querySelector<HTMLLinkElement>("link[rel=icon]");
  const icon = iconFor(badge);
  if (link !== null && link.getAttribute("href") !== icon) link.href = icon;
}
