import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { useText } from "@/text/text";
import { IconButton } from "@/ui/button";
import { copyText } from "@/ui/copy";

export function CopyButton({ text, label }: { text: string; label?: string }) {
  const t = useText();
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 1600);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return (
    <IconButton
      label={isCopied ? t.copied : (label ?? t.copy)}
      onClick={() => void copyText(text).then(setCopied)}
      className="size-7"
    >
      {isCopied ? <Check size={14} /> : <Copy size={14} />}
    </IconButton>
  );
}
