/** A line of a menu. */
export interface MenuItem {
  readonly name: string;
  /** A description in one line. */
  readonly text?: string;
  /** The text to insert when chosen. Default: its name. */
  readonly fills?: string;
}

/** A menu of choices while typing. */
export interface Menu {
  readonly title?: string;
  readonly items: readonly MenuItem[];
  readonly chosen: number;
}

/** Returns the menu with the next or the previous item selected; it wraps around at both ends. */
export function moveIn(menu: Menu, by: 1 | -1): Menu {
  const count = menu.items.length;
  return count === 0 ? menu : { ...menu, chosen: (menu.chosen + by + count) % count };
}
