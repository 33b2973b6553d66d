/** A device that does what another one does, but for some members of its sessions. */
import type { Device, Session } from '../../src/devices/device.ts';

export function wrapped(device: Device, own: (session: Session) => Partial<Session>): Device {
  return {
    name: device.name,
    kind: device.kind,
    epsilon: device.epsilon,
    close: () => device.close(),
    async open(program, options) {
      const session = await device.open(program, options);
      const members = own(session);
      return new Proxy(session, {
        get(target, name: keyof Session) {
          if (name in members) return members[name];
          const member = Reflect.get(target, name, target);
          return typeof member === 'function' ? member.bind(target) : member;
        },
      });
    },
  };
}
