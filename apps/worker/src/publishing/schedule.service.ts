import { Process, Processor } from '@nestjs/bull';
import sql from 'sql-template-tag';
import { AuditLog } from '@app/audit';
import { Database } from '@app/database';
import { Log } from '@app/logging';
import { type PostState, Publishing } from '@app/publishing';

/** Posts per round. The next round starts two seconds later. */
const MOST_POSTS = 200;

type DuePost = Pick<PostState, 'id' | 'organizationId'>;

/** Publishes scheduled posts. */
@Processor('publishing')
export class ScheduleService {
  constructor(
    private readonly db: Database,
    private readonly publishing: Publishing,
    private readonly audit: AuditLog,
    private readonly log: Log,
  ) {}

  /** Each post has its own transaction, so that a failing one doesn't affect the others. */
  @Process('publish-due')
  async runOnce(): Promise<{ published: number }> {
    const due = await this.db.lookUp<DuePost>(sql`
      SELECT id, organization_id AS "organizationId" FROM due_posts(${MOST_POSTS})`);
    let published = 0;
    for (const post of due) {
      try {
        if (await this.publish(post)) published++;
      } catch (error) {
        this.log.failure(error, null, 'post_not_published');
      }
    }
    if (published > 0) this.log.pino.info({ published }, 'scheduled posts published');
    return { published };
  }

  /** @returns false when another worker has locked it, or it is no longer due */
  private publish({ id, organizationId }: DuePost): Promise<boolean> {
    return this.db.transaction(Publishing.tenantOf(organizationId), async () => {
      const published = await this.publishing.publishDue({ id, organizationId });
      // The audit log belongs to organizations: the platform's posts are only logged above.
      if (published && organizationId !== null) {
        const by = { userId: null, requestId: `worker-${id}` };
        await this.audit.add(organizationId, by, 'publish scheduled post', { post_id: id });
      }
      return published;
    });
  }
}
