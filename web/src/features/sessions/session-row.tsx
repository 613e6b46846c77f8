import { CalendarClock, Ellipsis } from "lucide-react";
import { lazy, Suspense } from "react";
import type { Acting } from "@/features/sessions/acting";
import { SessionMenu } from "@/features/sessions/session-menu";
import type { SessionStore } from "@/features/sessions/session-store";
import { StateMark } from "@/features/sessions/state-mark";
import type { Place, SessionSummary } from "@/protocol/session";
import { useText } from "@/text/text";
import { Confirm } from "@/ui/dialog";
import { MarkedText } from "@/ui/marked-text";
import { Menu } from "@/ui/menu";

const MoveDialog = lazy(async () => ({ default: (await import("@/features/sessions/move-dialog")).MoveDialog }));

/** What the page does with a session. */
export interface SessionActions {
  onOpen: (id: string, messageId?: string) => void;
  onRemoved: (id: string) => void;
  onShare: (id: string) => void;
  exportAddress: (id: string, format: "json" | "markdown") => string;
}

interface SessionRowProps {
  session: SessionSummary;
  store: SessionStore;
  isOpen: boolean;
  isWaiting: boolean;
  actions: SessionActions;
  /** What the user is doing with this row. */
  acting: Acting | null;
  onAct: (acting: Pick<Acting, "doing" | "title"> | null) => void;
}

export function SessionRow({ session, store, isOpen, isWaiting, actions, acting, onAct }: SessionRowProps) {
  const t = useText();
  const { id } = session;
  const title = session.title || t.untitled;
  const doing = acting?.doing ?? null;
  const start = (next: Acting["doing"]) => onAct({ doing: next });
  const done = () => onAct(null);
  if (doing === "rename") {
    return (
      <TitleField
        title={title}
        typed={acting?.title ?? title}
        onType={(typed) => onAct({ doing, title: typed })}
        onDone={done}
        onRename={(name) => void store.rename(id, name)}
      />
    );
  }
  return (
    <li className="group/row">
      <div
        className={`relative flex items-center rounded-lg ${isOpen ? "bg-raised" : "hover:bg-raised focus-within:bg-raised"}`}
      >
        <button
          type="button"
          onClick={() => actions.onOpen(id)}
          aria-current={isOpen ? "page" : undefined}
          className="min-w-0 flex-1 truncate rounded-lg px-2.5 py-1.5 text-left text-[13.5px]"
        >
          {title}
        </button>
        {session.origin?.kind === "schedule" ? (
          <CalendarClock size={13} className="mr-2 shrink-0 text-faint" aria-label={t.scheduledChat} />
        ) : null}
        <StateMark isRunning={session.isRunning} isWaiting={isWaiting} />
        <div className="opacity-0 group-focus-within/row:opacity-100 group-hover/row:opacity-100 max-md:opacity-100">
          <Menu
            label={`${t.moreActions}: ${title}`}
            face={<Ellipsis size={15} />}
            className="!h-7 !min-w-7 !px-0"
            isOpen={doing === "menu"}
            onOpen={(isShown) => (isShown ? start("menu") : done())}
          >
            <SessionMenu
              session={session}
              onRename={() => start("rename")}
              onPin={() => void store.pin(id, !session.isPinned)}
              onMove={() => start("move")}
              onShare={() => actions.onShare(id)}
              onRemove={() => start("remove")}
              exportAddress={(format) => actions.exportAddress(id, format)}
            />
          </Menu>
        </div>
      </div>
      {session.places.map((place) => (
        <PlaceLink key={place.messageId} place={place} query={store.read().query} onOpen={actions.onOpen} id={id} />
      ))}
      {doing === "move" ? (
        <Suspense fallback={null}>
          <MoveDialog session={session} store={store} onClose={done} />
        </Suspense>
      ) : null}
      {doing === "remove" ? (
        <Confirm
          title={t.removeQuestion(title)}
          action={t.remove}
          isDanger
          onConfirm={() => store.remove(id).then(() => actions.onRemoved(id))}
          onClose={done}
        >
          {t.cannotBeUndone}
        </Confirm>
      ) : null}
    </li>
  );
}

interface PlaceLinkProps {
  id: string;
  place: Place;
  query: string;
  onOpen: SessionActions["onOpen"];
}

/** A place that was found; leads to its message. */
function PlaceLink({ id, place, query, onOpen }: PlaceLinkProps) {
  const t = useText();
  return (
    <button
      type="button"
      onClick={() => onOpen(id, place.messageId)}
      className="mb-1 ml-2.5 line-clamp-2 w-[calc(100%-1rem)] rounded-md border-l-2 border-line py-0.5 pl-2 text-left text-[12.5px] leading-[1.45] text-soft -outline-offset-2 hover:border-accent hover:text-ink"
    >
      <span className="sr-only">{place.role === "user" ? t.you : t.assistant}: </span>
      <MarkedText text={place.text} query={query} />
    </button>
  );
}

interface TitleFieldProps {
  title: string;
  typed: string;
  onType: (title: string) => void;
  onDone: () => void;
  onRename: (title: string) => void;
}

function TitleField({ typed: title, onType, ...props }: TitleFieldProps) {
  const t = useText();
  const finish = (save: boolean) => {
    props.onDone();
    if (save && title.trim() !== "" && title !== props.title) props.onRename(title.trim());
  };
  return (
    <li className="px-1 py-0.5">
      <input
        // biome-ignore lint/a11y/noAutofocus: the field replaces the row that was just acted on
        autoFocus
        aria-label={t.rename}
        value={title}
        onChange={(event) => onType(event.target.value)}
        onBlur={() => finish(true)}
        onKeyDown={(event) => {
          if (event.key === "Enter") finish(true);
          if (event.key === "Escape") finish(false);
        }}
        className="w-full rounded-md bg-surface px-2 py-1 text-[13.5px] ring-1 ring-accent"
      />
    </li>
  );
}
