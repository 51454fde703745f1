import { exactTime, relativeTime } from "./moment";

/** A time as people say it, with the exact one on hover. */
export function TimeAgo({ at }: { at: string }) {
  return (
    <time dateTime={at} title={exactTime(at)}>
      {relativeTime(at)}
    </time>
  );
}
