/** The mark: a tail that fits its socket. */
export function Logo({ size = 28 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" className="shrink-0">
      <rect width="32" height="32" rx="8" className="fill-accent" />
      <path d="M6.500 6.500h19v7h-5.900l2.900 8h-13l2.900-8H6.500z" className="fill-accent-ink" />
      <path d="M6.500 15h4.100l-2.900 8h16.600l-2.900-8h4.100v10.500h-19z" className="fill-accent-ink" opacity="0.45" />
    </svg>
  );
}
