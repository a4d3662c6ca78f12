import type { ComponentChild, ComponentChildren, VNode } from 'preact';
import { Component, createContext } from 'preact';
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Distance outside the visible area within which items are rendered. */
const margin = '1200px 0px';

/** Number of items rendered or removed together. */
const together = 8;

type ObserveElement = (element: Element, onSeen: (isNear: boolean) => void) => () => void;

const Watching = createContext<ObserveElement>(() => () => {});

interface WindowProps<Thing> {
  readonly things: readonly Thing[];
  readonly keyOf: (thing: Thing) => string;
  /** Renders an item; the second argument is its index among its neighbors, for its key. */
  readonly draw: (thing: Thing, at: number) => ComponentChild;
  /** Approximate height of an item before its first rendering, in pixels. */
  readonly height: number;
  /** A change of this value renders all visible items again. */
  readonly mark?: unknown;
  /** The key of an item that must be rendered, wherever it is. */
  readonly wanted?: string | undefined;
}

/** A list that renders only items near the visible area; the others are empty space, so that length costs little. */
export function WindowList<Thing>(props: WindowProps<Thing>): VNode {
  const { things, keyOf, wanted } = props;
  const root = useRef<HTMLDivElement>(null);
  const [watch] = useState(() => watching(root));
  const groups: Thing[][] = [];
  for (let at = 0; at < things.length; at += together) groups.push(things.slice(at, at + together));
  return (
    <div ref={root}>
      <Watching.Provider value={watch}>
        {groups.map((group, index) => (
          <WindowGroup
            key={index}
            {...props}
            things={group}
            isKept={index >= groups.length - 3 || group.some((thing) => keyOf(thing) === wanted)}
          />
        ))}
      </Watching.Provider>
    </div>
  );
}

function watching(root: { readonly current: HTMLElement | null }): ObserveElement {
  const listeners = new Map<Element, (isNear: boolean) => void>();
  const queue = new DrawQueue();
  let observer: IntersectionObserver | undefined;
  return (element, onSeen) => {
    observer ??= new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          queue.remove(target);
          if (isIntersecting) queue.add(target, () => listeners.get(target)?.(true));
          else listeners.get(target)?.(false);
        }
      },
      { root: root.current?.closest('.scroller') ?? null, rootMargin: margin },
    );
    listeners.set(element, onSeen);
    observer.observe(element);
    return () => {
      listeners.delete(element);
      queue.remove(element);
      observer?.unobserve(element);
    };
  };
}

interface GroupProps<Thing> extends WindowProps<Thing> {
  readonly isKept: boolean;
}

class WindowGroup<Thing> extends Component<GroupProps<Thing>> {
  override shouldComponentUpdate(next: Readonly<GroupProps<Thing>>): boolean {
    const { things, mark, isKept } = this.props;
    if (next.mark !== mark || next.isKept !== isKept || next.things.length !== things.length) return true;
    return next.things.some((thing, index) => thing !== things[index]);
  }

  override render(): ComponentChild {
    const { things, isKept, height, draw } = this.props as Readonly<GroupProps<Thing>>;
    return (
      <NearViewport isKept={isKept} height={things.length * height}>
        {() => things.map(draw)}
      </NearViewport>
    );
  }
}

interface NearViewportProps {
  readonly isKept: boolean;
  readonly height: number;
  readonly children: () => ComponentChildren;
}

function NearViewport({ isKept, height, children }: NearViewportProps): VNode {
  const ref = useRef<HTMLDivElement>(null);
  const measured = useRef(height);
  const [isNear, set] = useState(false);
  const watch = useContext(Watching);
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return;
    return watch(element, (near) => {
      // An item that was never rendered has no measured height.
      if (!near && element.childElementCount > 0) measured.current = element.offsetHeight;
      set(near);
    });
  }, [watch]);
  const isShown = isNear || isKept;
  return (
    <div ref={ref} class="group" style={isShown ? '' : `height:${measured.current}px`}>
      {isShown ? children() : null}
    </div>
  );
}

/** Renders one item per frame, the nearest to the middle of the window first, so that scrolling is never blocked. */
class DrawQueue {
  readonly #waiting = new Map<Element, () => void>();
  #isDue = false;

  /** Schedules an item for rendering. */
  add(place: Element, draw: () => void): void {
    this.#waiting.set(place, draw);
    this.#plan();
  }

  remove(place: Element): void {
    this.#waiting.delete(place);
  }

  #plan(): void {
    if (this.#isDue || this.#waiting.size === 0) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.#drawNext();
      this.#plan();
    });
  }

  #drawNext(): void {
    let [nearest, distance]: [Element | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
    for (const place of this.#waiting.keys()) {
      const away = distanceOf(place);
      if (away >= distance) continue;
      [nearest, distance] = [place, away];
    }
    if (nearest === undefined) return;
    const draw = this.#waiting.get(nearest);
    this.#waiting.delete(nearest);
    draw?.();
  }
}

/** Returns the distance of an element from the middle of the window in pixels; 0 if it covers the middle. */
function distanceOf(place: Element): number {
  const { top, bottom } = place.getBoundingClientRect();
  const middle = window.innerHeight / 2;
  return Math.max(top - middle, middle - bottom, 0);
}
