import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

const LOOK_EVERY = 300;
const MAX_LOOKS = 8;

/** Loads what the user may need next when the page is idle. Requests of the page come first. */
export function useWhenQuiet(load: () => unknown) {
  const client = useQueryClient();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const look = (looks: number) => {
      timer = setTimeout(() => {
        if (looks === 0 || client.isFetching() === 0) load();
        else look(looks - 1);
      }, LOOK_EVERY);
    };
    look(MAX_LOOKS);
    return () => clearTimeout(timer);
  }, [client, load]);
}
