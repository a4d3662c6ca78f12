/** Returns an object with another method of this name. The other methods work on the object itself. */
export function withMethod<Target extends object, Name extends keyof Target>(
  object: Target,
  name: Name,
  method: Target[Name],
): Target {
  return new Proxy(object, {
    get(target, key) {
      if (key === name) return method;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
