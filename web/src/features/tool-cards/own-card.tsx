import { type OwnCard, useCardProps } from "@/features/tool-cards/cards";
import type { ToolPart } from "@/protocol/message";
import { ErrorBoundary } from "@/ui/error-boundary";

interface OwnCardViewProps {
  own: OwnCard;
  part: ToolPart;
  isLive: boolean;
}

/** A card that an extension folder has brought; nothing if it fails, so that the line of the call remains. */
export function OwnCardView({ own, part, isLive }: OwnCardViewProps) {
  const props = useCardProps(part, isLive);
  return (
    <ErrorBoundary subject={own} fallback={null} onError={own.onError}>
      <own.Card {...props} />
    </ErrorBoundary>
  );
}
