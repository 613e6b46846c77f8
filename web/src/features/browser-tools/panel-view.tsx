import { ExternalLink, Globe, X } from "lucide-react";
import type { PanelStack, StackItem } from "@/features/browser-tools/panel-stack";
import { useText } from "@/text/text";
import { IconButton } from "@/ui/button";
import { useStore } from "@/ui/store";

/** The opened pages, with one in front. */
export function PanelView({ stack }: { stack: PanelStack }) {
  const t = useText();
  const { items, activeKey } = useStore(stack);
  const active = items.find((item) => item.key === activeKey);
  if (active === undefined) return null;
  return (
    <section aria-label={t.pages} className="flex min-h-0 flex-1 flex-col">
      <div role="tablist" aria-label={t.pages} className="flex h-11 items-center gap-1 overflow-x-auto px-2">
        {items.map((item) => (
          <PageTab key={item.key} item={item} isActive={item.key === activeKey} stack={stack} />
        ))}
      </div>
      <div className="flex h-9 items-center gap-2 border-y border-line bg-sunken px-3 text-[12.5px] text-soft">
        <Globe size={13} className="shrink-0" aria-hidden="true" />
        <span className="min-w-0 flex-1 truncate">{active.url}</span>
        <a
          href={active.url}
          target="_blank"
          rel="noopener noreferrer"
          className="flex shrink-0 items-center gap-1.5 rounded hover:text-ink"
        >
          <ExternalLink size={13} aria-hidden="true" /> {t.openInTab}
        </a>
      </div>
      <PageContent item={active} key={active.key} />
    </section>
  );
}

/** The page in a frame, if its site allows that; otherwise a link to it. */
function PageContent({ item }: { item: StackItem }) {
  const t = useText();
  if (item.isShown === null) return <p className="p-6 text-[13px] text-soft">{t.pageOpens}</p>;
  if (!item.isShown) {
    return (
      <div className="flex flex-1 flex-col items-center justify-center gap-4 p-8 text-center">
        <p className="max-w-80 text-[14px] text-soft text-balance">{t.frameRefused(new URL(item.url).hostname)}</p>
        <a
          href={item.url}
          target="_blank"
          rel="noopener noreferrer"
          className="inline-flex items-center gap-2 rounded-lg bg-accent px-3.5 py-2 text-[13.5px] font-medium text-accent-ink hover:opacity-90"
        >
          <ExternalLink size={15} aria-hidden="true" /> {t.openInOwnTab}
        </a>
      </div>
    );
  }
  return (
    <iframe
      src={item.url}
      title={item.title}
      referrerPolicy="no-referrer"
      sandbox={sandboxFor(item.url)}
      className="min-h-0 w-full flex-1 bg-white"
    />
  );
}

/** A page of our own origin must not reach into the chat. */
function sandboxFor(url: string): string {
  const base = "allow-scripts allow-forms allow-popups";
  return new URL(url).origin === location.origin ? base : `${base} allow-same-origin`;
}

function PageTab({ item, isActive, stack }: { item: StackItem; isActive: boolean; stack: PanelStack }) {
  const t = useText();
  return (
    <div
      className={`flex max-w-56 min-w-0 shrink-0 items-center rounded-lg ${isActive ? "bg-raised" : "hover:bg-raised"}`}
    >
      <button
        type="button"
        role="tab"
        aria-selected={isActive}
        onClick={() => stack.activate(item.key)}
        className="min-w-0 truncate rounded-lg py-1 pl-3 text-[13px]"
      >
        {item.title}
      </button>
      <IconButton label={t.closePage(item.title)} className="size-7" onClick={() => stack.close(item.key)}>
        <X size={13} />
      </IconButton>
    </div>
  );
}
