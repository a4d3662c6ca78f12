import type { ComponentChildren, VNode } from 'preact';
import type { PageRoute } from './route.ts';
import { addressOf } from './route.ts';

interface PageLinkProps {
  readonly to: PageRoute;
  readonly class?: string;
  readonly isCurrent?: boolean;
  readonly go: (place: PageRoute) => void;
  readonly title?: string;
  readonly children: ComponentChildren;
}

/** A link to a part of the page. With a modifier key, the browser opens it. */
export function PageLink({ to, class: name, isCurrent, title, go, children }: PageLinkProps): VNode {
  return (
    <a
      href={addressOf(to)}
      class={name}
      title={title}
      aria-current={isCurrent === true ? 'page' : undefined}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        go(to);
      }}
    >
      {children}
    </a>
  );
}
