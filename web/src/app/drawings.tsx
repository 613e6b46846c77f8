/** Which card draws which part of an answer: add a line here to give a tool a card of its own. */

import type { PartDrawings } from "@/features/chat/message-view";
import { UnifiedTool } from "@/features/tool-cards/unified-tool";

export const drawings: PartDrawings = {
  tool: (part, isLive) => <UnifiedTool part={part} isLive={isLive} />,
  data: () => null,
};
