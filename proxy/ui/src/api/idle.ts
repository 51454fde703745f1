import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

const CHECK_INTERVAL = 300;
const MAX_CHECKS = 8;

/** Loads what the user may need next when the page is idle. Requests of the page come first. */
export function useWhenQuiet(load: () => unknown) {
  const client = useQueryClient();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const look = (checks: number) => {
      timer = setTimeout(() => {
        if (checks === 0 || client.isFetching() === 0) load();
        else look(checks - 1);
      }, CHECK_INTERVAL);
    };
    look(MAX_CHECKS);
    return () => clearTimeout(timer);
  }, [client, load]);
}
