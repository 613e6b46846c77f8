import { Component, type ReactNode } from "react";

interface ErrorBoundaryProps {
  /** What is shown in place of the children when they cannot be drawn. */
  fallback: ReactNode;
  /** When this changes, drawing is tried again. */
  subject?: unknown;
  children: ReactNode;
}

interface ErrorBoundaryState {
  failed: boolean;
  subject: unknown;
}

/** Confines an error while drawing to the part of the page that it belongs to. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, ErrorBoundaryState> {
  override state: ErrorBoundaryState = { failed: false, subject: this.props.subject };

  static getDerivedStateFromError(): Partial<ErrorBoundaryState> {
    return { failed: true };
  }

  static getDerivedStateFromProps(
    props: ErrorBoundaryProps,
    state: ErrorBoundaryState,
  ): Partial<ErrorBoundaryState> | null {
    return props.subject === state.subject ? null : { failed: false, subject: props.subject };
  }

  override render(): ReactNode {
    return this.state.failed ? this.props.fallback : this.props.children;
  }
}
