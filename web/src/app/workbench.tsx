import { Maximize2, X } from "lucide-react";
import { useEffect } from "react";
import { PanelContent } from "@/app/panel-content";
import { PANELS, type PanelName, type PanelProps, WORKBENCH_PANELS } from "@/app/panels";
import { openRoom } from "@/app/route";
import { Splitter, useWidth } from "@/app/splitter";
import { useText } from "@/text/text";
import { IconButton } from "@/ui/button";
import { useStore } from "@/ui/store";

interface WorkbenchProps extends PanelProps {
  panel: PanelName;
  onClose: () => void;
}

/** The panels next to the chat: a column that can be made wider, above the chat where there is no room for both. */
export function Workbench({ panel, onClose, ...props }: WorkbenchProps) {
  const t = useText();
  const { items } = useStore(props.services.stack);
  const [width, setWidth] = useWidth();
  const shown = WORKBENCH_PANELS.filter((name) => name !== "pages" || items.length > 0);
  const active = shown.includes(panel) ? panel : "tools";
  useEscape(onClose);
  const open: PanelProps["onOpen"] = (...place) => {
    props.onOpen(...place);
    if (coversChat()) onClose();
  };
  return (
    <>
      <button
        type="button"
        aria-label={t.closeWorkbench}
        tabIndex={-1}
        onClick={onClose}
        className="fixed inset-0 z-30 bg-black/20 xl:hidden"
      />
      <aside
        aria-label={t.workbench}
        style={{ width }}
        className="@container relative flex min-w-0 shrink-0 flex-col border-l border-line bg-page max-xl:fixed max-xl:inset-y-0 max-xl:right-0 max-xl:z-40 max-xl:max-w-[92vw] max-xl:shadow-float max-sm:w-full! max-sm:max-w-none"
      >
        <Splitter width={width} onChange={setWidth} />
        <header className="flex h-14 shrink-0 items-center gap-1 px-3">
          <div
            role="tablist"
            aria-label={t.workbench}
            className="flex min-w-0 flex-1 items-center gap-0.5 overflow-x-auto"
          >
            {shown.map((name) => (
              <button
                key={name}
                type="button"
                role="tab"
                id={`tab-${name}`}
                aria-selected={name === active}
                aria-controls="workbench-panel"
                ref={name === active ? bringIntoSight : null}
                onClick={() => props.onPanel(name)}
                className="shrink-0 rounded-lg px-2.5 max-sm:px-1.5 py-1 text-[13px] text-soft -outline-offset-2 hover:text-ink aria-selected:bg-raised aria-selected:font-medium aria-selected:text-ink"
              >
                {t.panelTitles[name]}
              </button>
            ))}
          </div>
          {PANELS[active].group === undefined ? null : (
            <IconButton label={t.openInRoom} onClick={() => openRoom(active)}>
              <Maximize2 size={15} />
            </IconButton>
          )}
          <IconButton label={t.closeWorkbench} onClick={onClose}>
            <X size={17} />
          </IconButton>
        </header>
        <div
          id="workbench-panel"
          role="tabpanel"
          aria-labelledby={`tab-${active}`}
          className="flex min-h-0 flex-1 flex-col"
        >
          <PanelContent name={active} {...props} onOpen={open} />
        </div>
      </aside>
    </>
  );
}

/** Whether the workbench lies above the chat. */
function coversChat(): boolean {
  return matchMedia("(width < 80rem)").matches;
}

/** Escape closes the workbench where it lies above the chat. */
function useEscape(onClose: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isElsewhere = document.querySelector("dialog[open], [role=menu]") !== null;
      if (event.key !== "Escape" || event.defaultPrevented || isElsewhere || !coversChat()) return;
      event.preventDefault();
      onClose();
    };
    addEventListener("keydown", onKey, true);
    return () => removeEventListener("keydown", onKey, true);
  }, [onClose]);
}

/** Scrolls to the tab: on a phone the tabs are wider than the page. */
function bringIntoSight(tab: HTMLElement | null): void {
  tab?.scrollIntoView({ block: "nearest", inline: "nearest" });
}
