import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from '../parts/icons.tsx';

interface MenuProps {
  readonly rename: () => void;
  readonly copyAll: () => void;
  readonly remove: () => void;
}

/** Rare actions of a session. The menu closes after a choice, with Esc and on a click elsewhere. */
export function HeadMenu({ rename, copyAll, remove }: MenuProps): VNode {
  const menu = useRef<HTMLDetailsElement>(null);
  useClosing(menu);
  const item = (act: () => void) => () => {
    if (menu.current !== null) menu.current.open = false;
    act();
  };
  return (
    <details class="menu" ref={menu}>
      <summary aria-label="More">
        <Icon name="more" />
      </summary>
      <div class="menu-list">
        <button type="button" onClick={item(rename)}>
          Rename…
        </button>
        <button type="button" onClick={item(copyAll)}>
          Copy as Markdown
        </button>
        <button type="button" class="danger" onClick={item(remove)}>
          Delete session…
        </button>
      </div>
    </details>
  );
}

function useClosing(menu: { readonly current: HTMLDetailsElement | null }): void {
  useEffect(() => {
    const onPointer = ({ target }: PointerEvent) => {
      const { current } = menu;
      if (current?.open === true && !(target instanceof Node && current.contains(target)))
        current.open = false;
    };
    const onKey = (event: KeyboardEvent) => {
      const { current } = menu;
      if (event.key !== 'Escape' || current?.open !== true) return;
      // It closes the menu and nothing else.
      event.stopPropagation();
      current.open = false;
      current.querySelector('summary')?.focus();
    };
    document.addEventListener('pointerdown', onPointer);
    document.addEventListener('keydown', onKey, { capture: true });
    return () => {
      document.removeEventListener('pointerdown', onPointer);
      document.removeEventListener('keydown', onKey, { capture: true });
    };
  }, [menu]);
}
