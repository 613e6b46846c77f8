import { Gauge, PanelLeftClose, SquarePen, X } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { addressOf } from "@/app/route";
import { useText } from "@/text/text";
import { IconButton } from "@/ui/button";
import { Logo } from "@/ui/logo";

interface SidebarProps {
  /** Whether the drawer of a narrow screen is open. */
  isOpen: boolean;
  /** Whether the column of a wide screen is hidden. */
  isCollapsed: boolean;
  onClose: () => void;
  onCollapse: () => void;
  onNew: () => void;
  /** Next to the button that hides the column. */
  actions?: ReactNode;
  /** The chats, or the panels of the control room. */
  children: ReactNode;
}

/** The column on the left of wide screens, a drawer on narrow ones. */
export function Sidebar({ isOpen, isCollapsed, onClose, onCollapse, onNew, actions, children }: SidebarProps) {
  const t = useText();
  const drawer = useRef<HTMLElement>(null);
  useDrawer(drawer, isOpen, onClose);
  return (
    <>
      {isOpen ? (
        <button
          type="button"
          aria-label={t.closeMenu}
          onClick={onClose}
          className="fixed inset-0 z-30 bg-black/30 md:hidden"
        />
      ) : null}
      <aside
        ref={drawer}
        className={`z-40 flex w-68 shrink-0 flex-col border-r border-line bg-sunken max-md:fixed max-md:inset-y-0 max-md:w-[min(20rem,86vw)] max-md:shadow-float max-md:transition-transform ${isOpen ? "" : "max-md:invisible max-md:-translate-x-full"} ${isCollapsed ? "md:hidden" : ""}`}
      >
        <header className="flex h-14 shrink-0 items-center gap-1 pr-2.5 pl-4.5">
          <Logo size={24} />
          <span className="flex-1 pl-1.5 text-[15px] font-semibold tracking-[-0.01em]">{t.appName}</span>
          {actions}
          <IconButton label={t.hideSidebar} onClick={onCollapse} className="max-md:hidden">
            <PanelLeftClose size={17} />
          </IconButton>
          <IconButton label={t.closeMenu} onClick={onClose} className="md:hidden">
            <X size={17} />
          </IconButton>
        </header>
        <div className="px-2">
          <button
            type="button"
            onClick={onNew}
            className="flex h-9 w-full items-center gap-2 rounded-lg px-2.5 text-[13.5px] font-medium hover:bg-raised"
          >
            <SquarePen size={15} className="text-accent" aria-hidden="true" /> {t.newChat}
          </button>
        </div>
        {children}
        <footer className="shrink-0 border-t border-line p-2">
          <a
            href={addressOf({ kind: "room", panel: "", argument: null })}
            onClick={onClose}
            className="flex h-9 items-center gap-2 rounded-lg px-2.5 text-[13.5px] text-soft hover:bg-raised hover:text-ink"
          >
            <Gauge size={15} aria-hidden="true" /> {t.controlRoom}
          </a>
        </footer>
      </aside>
    </>
  );
}

/** Moves the focus into the drawer while it is open, and back when it closes; Escape closes it. */
function useDrawer(drawer: React.RefObject<HTMLElement | null>, isOpen: boolean, onClose: () => void): void {
  useEffect(() => {
    if (!isOpen) return;
    const before = document.activeElement;
    drawer.current?.querySelector<HTMLElement>("button")?.focus();
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      onClose();
    };
    addEventListener("keydown", onKey, true);
    return () => {
      removeEventListener("keydown", onKey, true);
      if (before instanceof HTMLElement) before.focus();
    };
  }, [drawer, isOpen, onClose]);
}
