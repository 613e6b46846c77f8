import { SquarePen, X } from "lucide-react";
import { useEffect, useRef } from "react";
import type { Services } from "@/app/services";
import { SessionList } from "@/features/sessions/session-list";
import { useText } from "@/text/text";
import { exportAddress } from "@/transport/api";
import { IconButton } from "@/ui/button";
import { Logo } from "@/ui/logo";

interface SidebarProps {
  services: Services;
  openId: string | null;
  isOpen: boolean;
  onClose: () => void;
  onOpen: (id: string) => void;
  onNew: () => void;
  onRemoved: (id: string) => void;
}

/** The list of chats: a column on wide screens, a drawer on narrow ones. */
export function Sidebar({ services, openId, isOpen, onClose, onOpen, onNew, onRemoved }: SidebarProps) {
  const t = useText();
  const drawer = useRef<HTMLElement>(null);
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
  }, [isOpen, onClose]);
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
        className={`z-40 flex w-68 shrink-0 flex-col border-r border-line bg-sunken max-md:fixed max-md:inset-y-0 max-md:w-[min(20rem,86vw)] max-md:shadow-float max-md:transition-transform ${isOpen ? "" : "max-md:invisible max-md:-translate-x-full"}`}
      >
        <header className="flex h-14 items-center gap-2.5 pr-2.5 pl-4.5">
          <Logo size={24} />
          <span className="flex-1 text-[15px] font-semibold tracking-[-0.01em]">{t.appName}</span>
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
        <SessionList
          store={services.sessions}
          openId={openId}
          onOpen={onOpen}
          onRemoved={onRemoved}
          exportAddress={exportAddress}
        />
      </aside>
    </>
  );
}
