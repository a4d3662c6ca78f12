import type { VNode } from 'preact';

/** A value of a list of sums, below its name. */
export function Sum({ name, value }: { readonly name: string; readonly value: string }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
