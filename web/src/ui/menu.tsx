import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useEffectEvent,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";

type Placement = "bottom-end" | "bottom-start" | "top-start" | "top-end";

const PLACES: Record<Placement, string> = {
  "bottom-end": "top-full right-0 mt-1",
  "bottom-start": "top-full left-0 mt-1",
  "top-start": "bottom-full left-0 mb-1",
  "top-end": "bottom-full right-0 mb-1",
};

const UPWARDS: Partial<Record<Placement, Placement>> = { "bottom-end": "top-end", "bottom-start": "top-start" };

/** Whether something covers the lower end of a list, or cuts it off. */
function isCovered(list: HTMLElement): boolean {
  const { left, width, bottom } = list.getBoundingClientRect();
  const top = document.elementFromPoint(left + width / 2, bottom - 2);
  return top === null || !list.contains(top);
}

/** The placement of an open list: upwards if it is covered below its button, and not above it. */
function useFit(list: { current: HTMLElement | null }, placement: Placement, isOpen: boolean): Placement {
  const [isFlipped, setFlipped] = useState(false);
  useLayoutEffect(() => {
    const element = list.current;
    const isUp = isOpen && element !== null && UPWARDS[placement] !== undefined && isCovered(element);
    const room = (element?.parentElement?.getBoundingClientRect().top ?? 0) - (element?.offsetHeight ?? 0);
    setFlipped(isUp && room > 0);
  }, [list, placement, isOpen]);
  return isFlipped ? (UPWARDS[placement] ?? placement) : placement;
}

const CloseContext = createContext<() => void>(() => {});

interface MenuProps {
  label: string;
  face: ReactNode;
  placement?: Placement;
  className?: string;
  /** Whether it is open, if the parent keeps that, and how it is told. */
  isOpen?: boolean;
  onOpen?: (isOpen: boolean) => void;
  children: ReactNode;
}

/** A button that opens a list of actions: arrow keys move, Escape closes it and restores the focus. */
export function Menu({ label, face, placement = "bottom-end", className = "", children, ...kept }: MenuProps) {
  const [isOwnOpen, setOwnOpen] = useState(false);
  const isOpen = kept.isOpen ?? isOwnOpen;
  const setOpen = kept.onOpen ?? setOwnOpen;
  const root = useRef<HTMLDivElement>(null);
  const trigger = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const place = useFit(list, placement, isOpen);

  const leave = useEffectEvent(() => setOpen(false));
  useEffect(() => {
    if (!isOpen) return;
    root.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    const onPointer = (event: PointerEvent) => {
      if (!root.current?.contains(event.target as Node)) leave();
    };
    document.addEventListener("pointerdown", onPointer);
    return () => document.removeEventListener("pointerdown", onPointer);
  }, [isOpen]);

  const close = () => {
    setOpen(false);
    trigger.current?.focus();
  };
  const onKey = (event: React.KeyboardEvent) => {
    if (event.key === "Escape" && isOpen) {
      event.stopPropagation();
      close();
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    moveFocus(root.current, event.key === "ArrowDown" ? 1 : -1);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the menu inside
    <div ref={root} className="relative flex min-w-0" onKeyDown={onKey}>
      <button
        ref={trigger}
        type="button"
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
        className={`inline-flex h-8 min-w-8 items-center justify-center rounded-lg px-2 text-soft transition-colors hover:bg-raised hover:text-ink aria-expanded:bg-raised ${className}`}
      >
        {face}
      </button>
      {isOpen ? (
        <div
          ref={list}
          id={id}
          role="menu"
          aria-label={label}
          className={`absolute z-30 min-w-48 animate-rise rounded-xl border border-line bg-surface p-1 shadow-float ${PLACES[place]}`}
        >
          <CloseContext value={close}>{children}</CloseContext>
        </div>
      ) : null}
    </div>
  );
}

function moveFocus(root: HTMLElement | null, step: number): void {
  const items = [...(root?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
  const at = items.indexOf(document.activeElement as HTMLElement);
  items[(at + step + items.length) % items.length]?.focus();
}

interface MenuItemProps {
  onSelect: () => void;
  isDanger?: boolean;
  children: ReactNode;
}

export function MenuItem({ onSelect, isDanger = false, children }: MenuItemProps) {
  const close = useContext(CloseContext);
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      onClick={() => {
        close();
        onSelect();
      }}
      className={`flex w-full items-center gap-2.5 rounded-lg px-2.5 py-1.5 text-left text-[13px] whitespace-nowrap outline-none hover:bg-raised focus:bg-raised ${isDanger ? "text-danger" : ""}`}
    >
      {children}
    </button>
  );
}

/** The heading of a group of items. */
export function MenuHeading({ children }: { children: ReactNode }) {
  return <p className="px-2.5 pt-2 pb-1 text-[12px] text-faint">{children}</p>;
}
