import { Component, type ReactNode } from "react";

interface ErrorBoundaryProps {
  /** Shown in place of children that cannot be rendered. */
  fallback: ReactNode;
  /** When this changes, rendering is tried again. */
  subject?: unknown;
  onError?: (error: unknown) => void;
  children: ReactNode;
}

interface ErrorBoundaryState {
  failed: boolean;
  subject: unknown;
}

/** Confines a rendering error to the part of the page where it occurs. */
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

  override componentDidCatch(error: unknown): void {
    this.props.onError?.(error);
  }

  override render(): ReactNode {
    return this.state.failed ? this.props.fallback : this.props.children;
  }
}
