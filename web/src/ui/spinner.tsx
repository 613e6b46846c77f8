/** A quiet sign that something is in progress. */
export function Spinner({ size = 14 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" className="shrink-0 animate-spin">
      <circle cx="8" cy="8" r="6.250" fill="none" stroke="currentColor" strokeWidth="1.750" opacity="0.2" />
      <path
        d="M8 1.750A6.250 6.250 0 0 1 14.250 8"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.750"
        strokeLinecap="round"
      />
    </svg>
  );
}
