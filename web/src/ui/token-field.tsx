import { useId, useState } from "react";
import { useText } from "@/text/text";
import { Button } from "@/ui/button";

interface TokenFieldProps {
  isWrong: boolean;
  isBusy?: boolean;
  /** What happens with the token, in a word. */
  action: string;
  onGiven: (token: string) => void;
}

/** Asks for the token that the server requires from admins. */
export function TokenField({ isWrong, isBusy = false, action, onGiven }: TokenFieldProps) {
  const t = useText();
  const id = useId();
  const [token, setToken] = useState("");
  return (
    <form
      className="mb-3 rounded-xl border border-line bg-surface px-4 py-3 text-[13px]"
      onSubmit={(event) => {
        event.preventDefault();
        if (token !== "") onGiven(token);
      }}
    >
      <label htmlFor={id} className="text-soft">
        {t.adminTokenHint}
      </label>
      <div className="mt-2 flex gap-2">
        <input
          id={id}
          type="password"
          autoComplete="off"
          aria-label={t.adminToken}
          aria-invalid={isWrong}
          value={token}
          onChange={(event) => setToken(event.target.value)}
          className={`h-8 min-w-0 flex-1 rounded-lg border bg-page px-2.5 ${isWrong ? "border-danger" : "border-line focus:border-line-strong"}`}
        />
        <Button look="primary" type="submit" disabled={isBusy || token === ""}>
          {action}
        </Button>
      </div>
      {isWrong ? (
        <p role="alert" className="mt-1.5 text-danger">
          {t.wrongAdminToken}
        </p>
      ) : null}
    </form>
  );
}
