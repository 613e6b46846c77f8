import { ArrowLeft } from "lucide-react";
import { useEffect, useRef } from "react";
import { PanelContent } from "@/app/panel-content";
import { PANELS, type PanelName, type PanelProps, panelsOf, ROOM_GROUPS } from "@/app/panels";
import { addressOf } from "@/app/route";
import { useText } from "@/text/text";

/** The control room: a panel on the whole page. */
export function Room({ panel, ...props }: PanelProps & { panel: PanelName }) {
  const place = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another panel takes the place of what had the focus
  useEffect(() => {
    if (document.activeElement === document.body) place.current?.focus();
  }, [panel]);
  return (
    <div
      ref={place}
      tabIndex={-1}
      className="@container outline-none mx-auto flex min-h-0 w-full max-w-300 flex-1 flex-col"
    >
      <PanelContent name={panel} {...props} />
    </div>
  );
}

/** The panels of the control room, in the place of the list of chats. */
export function RoomList({ panel, onLeave }: { panel: PanelName; onLeave: () => void }) {
  const t = useText();
  return (
    <nav aria-label={t.controlRoom} className="min-h-0 flex-1 overflow-y-auto px-2 pb-4">
      <button
        type="button"
        onClick={onLeave}
        className="flex h-9 w-full items-center gap-2 rounded-lg px-2.5 text-[13.5px] font-medium hover:bg-raised"
      >
        <ArrowLeft size={15} className="text-accent" aria-hidden="true" /> {t.backToChats}
      </button>
      {ROOM_GROUPS.filter((group) => panelsOf(group).length > 0).map((group) => (
        <section key={group} aria-label={t.panelGroups[group]}>
          <h2 className="px-2.5 pt-4 pb-1 text-[12px] text-faint">{t.panelGroups[group]}</h2>
          {panelsOf(group).map((name) => (
            <RoomLink key={name} name={name} isCurrent={name === panel} />
          ))}
        </section>
      ))}
    </nav>
  );
}

function RoomLink({ name, isCurrent }: { name: PanelName; isCurrent: boolean }) {
  const t = useText();
  const { icon: Icon } = PANELS[name];
  return (
    <a
      href={addressOf({ kind: "room", panel: name, argument: null })}
      aria-current={isCurrent ? "page" : undefined}
      className="flex h-8 items-center gap-2.5 rounded-lg px-2.5 text-[13.5px] text-soft hover:bg-raised hover:text-ink aria-[current=page]:bg-raised aria-[current=page]:font-medium aria-[current=page]:text-ink"
    >
      <Icon size={15} className="shrink-0" aria-hidden="true" />
      <span className="truncate">{t.panelTitles[name]}</span>
    </a>
  );
}
