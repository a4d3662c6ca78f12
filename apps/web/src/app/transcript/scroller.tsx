import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

interface ScrollerProps {
  /** Number of items: those added since the user scrolled away are counted. */
  readonly count: number;
  /** Changes whenever something may have come. */
  readonly mark: unknown;
  /** Another conversation begins at its end again. */
  readonly name: string;
  readonly children: ComponentChildren;
}

/** So near to the end counts as being there, in pixels. */
const near = 48;

/** A scroll container: it follows the end while the user is there. */
export function Scroller({ count, mark, name, children }: ScrollerProps): VNode {
  const ref = useRef<HTMLElement>(null);
  const isAtEnd = useRef(true);
  const seen = useRef(count);
  const [isAway, setAway] = useState(false);
  const toEnd = () => {
    const element = ref.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
  };
  const follow = () => {
    if (isAtEnd.current) toEnd();
  };
  useLayoutEffect(() => {
    isAtEnd.current = !/^#e\d/.test(location.hash);
    setAway(!isAtEnd.current);
    follow();
  }, [name]);
  useLayoutEffect(follow, [mark]);
  useEffect(() => {
    const observer = new ResizeObserver(follow);
    for (const element of [ref.current, ref.current?.firstElementChild])
      if (element) observer.observe(element);
    return () => observer.disconnect();
  }, []);
  if (isAtEnd.current) seen.current = count;
  const onScroll = () => {
    const element = ref.current;
    if (element === null) return;
    isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < near;
    if (isAtEnd.current) seen.current = count;
    setAway(!isAtEnd.current);
  };
  const fresh = Math.max(0, count - seen.current);
  return (
    <div class="scroll-room">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard. */}
      <section class="scroller" ref={ref} onScroll={onScroll} tabIndex={0} aria-label="Conversation">
        <div class="column">{children}</div>
      </section>
      {isAway && (
        <button
          type="button"
          class="to-end"
          onClick={() => {
            isAtEnd.current = true;
            setAway(false);
            toEnd();
          }}
        >
          ↓ {fresh > 0 ? `${fresh} new` : 'to the end'}
        </button>
      )}
    </div>
  );
}
