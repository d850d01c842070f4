import { Turns } from '@app/concurrency';
import { ClientLeft, RequestTurn } from '@app/serving';

describe('the turn of a request whose client has left', () => {
  const left = async () => {
    const turn = new RequestTurn(new Turns(4), 'a network');
    await turn.enter();
    turn.end();
    return turn;
  };

  it('is not given again: the work ends where it would wait for one', async () => {
    expect(() => new RequestTurn(new Turns(4), 'a network').enter()).not.toThrow();
    const [organizations, done] = [new Turns(4), vi.fn()];
    const moved = (await left()).moveTo(organizations, 'an organization');
    await expect(moved).rejects.toThrow(ClientLeft);
    expect(organizations.held).toBe(0);
    const waited = (await left()).without(() => Promise.resolve('read')).then(done);
    await expect(waited).rejects.toThrow(ClientLeft);
    expect(done).not.toHaveBeenCalled();
  });
});
