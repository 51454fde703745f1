import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

const LOOK_EVERY = 300;
const MAX_LOOKS = 8;

/** Loads what may be asked for next, once the page has what it shows. Its requests come first. */
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
