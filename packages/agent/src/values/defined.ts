type Defined<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name];
} & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>;
};

/** Returns the fields that are not undefined, in order: in events and options a missing field and `undefined` differ. */
export function defined<const Fields extends object>(fields: Fields): Defined<Fields> {
  const set: Partial<Fields> = {};
  for (const name in fields) if (fields[name] !== undefined) set[name] = fields[name];
  return set as object as Defined<Fields>;
}
