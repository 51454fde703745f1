import { exactTime, relativeTime } from "./moment";

/** A relative time, with the exact one on hover. */
export function TimeAgo({ at }: { at: string }) {
  return (
    <time dateTime={at} title={exactTime(at)}>
      {relativeTime(at)}
    </time>
  );
}
