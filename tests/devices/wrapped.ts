/** Devices and sessions that do what others do, but for some members of the sessions. */
import type { Device, Session } from '../../src/devices/device.ts';

export function wrapped(device: Device, own: (session: Session) => Partial<Session>): Device {
  return {
    name: device.name,
    kind: device.kind,
    epsilon: device.epsilon,
    close: () => device.close(),
    open: async (program, options) => wrappedSession(await device.open(program, options), own),
  };
}

export function wrappedSession(session: Session, own: (session: Session) => Partial<Session>): Session {
  const members = own(session);
  return new Proxy(session, {
    get(target, name: keyof Session) {
      if (name in members) return members[name];
      const member = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
