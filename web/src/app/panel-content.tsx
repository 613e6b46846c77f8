import { Suspense } from "react";
import { PANELS, type PanelName, type PanelProps } from "@/app/panels";
import { useText } from "@/text/text";
import { ErrorBoundary } from "@/ui/error-boundary";
import { Notice } from "@/ui/notice";

/** The inside of a panel; one that cannot be drawn leaves the rest of the page alone. */
export function PanelContent({ name, ...props }: PanelProps & { name: PanelName }) {
  const t = useText();
  const { Content } = PANELS[name];
  return (
    <ErrorBoundary subject={name} fallback={<Notice title={t.undrawablePart} />}>
      <Suspense fallback={null}>
        <Content {...props} />
      </Suspense>
    </ErrorBoundary>
  );
}
