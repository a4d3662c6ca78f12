import type { ComponentChild, FunctionComponent, RefObject } from 'preact';
import { Component } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Observable } from './observable.ts';

/** Creates a component that is rendered again only when one of its properties has changed. */
export function memoize<Props extends object>(draw: FunctionComponent<Props>): FunctionComponent<Props> {
  class Memoized extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      const before: Readonly<Record<string, unknown>> = { ...this.props };
      const after: Readonly<Record<string, unknown>> = { ...next };
      return Object.keys({ ...before, ...after }).some((name) => before[name] !== after[name]);
    }
    override render(): ComponentChild {
      const Draw = draw;
      return <Draw {...(this.props as Props)} />;
    }
  }
  return Memoized as unknown as FunctionComponent<Props>;
}

/** Renders the component again when a source has changed. */
export function useChanged(...sources: readonly (Observable | undefined)[]): void {
  const [, count] = useState(0);
  useEffect(() => {
    const ends = sources.map((source) => source?.subscribe(() => count((before) => before + 1)));
    return () => {
      for (const end of ends) end?.();
    };
  }, sources);
}

/** Returns the current time in milliseconds since 1970, updated while it is wanted. */
export function useNow(everyMs: number, isWanted: boolean = true): number {
  const [now, set] = useState(Date.now());
  useEffect(() => {
    if (!isWanted) return;
    set(Date.now());
    const timer = setInterval(() => set(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, isWanted]);
  return Math.max(now, 0);
}

/** Attributes of an element that can scroll. Without the focus, the keyboard cannot scroll it in every browser. */
export function scrollArea(label: string): { role: 'group'; tabIndex: number; 'aria-label': string } {
  return { role: 'group', tabIndex: 0, 'aria-label': label };
}

/** When an element that has the focus is removed, moves the focus to the first match of a selector. */
export function useFocusReturn<Removed extends HTMLElement>(selector: string): RefObject<Removed | null> {
  const ref = useRef<Removed>(null);
  useLayoutEffect(() => {
    const { current } = ref;
    return () => {
      if (current?.contains(document.activeElement) === true)
        document.querySelector<HTMLElement>(selector)?.focus();
    };
  }, [selector]);
  return ref;
}
