import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AccessModule } from '@app/access';
import { BillingModule } from '@app/billing';
import { ConfigModule, type Env } from '@app/config';
import { connect, Database, DatabaseFault, DatabaseModule, MOST_BEHIND } from '@app/database';
import { ErasureModule } from '@app/erasure';
import { PublishingModule } from '@app/publishing';
import { WebhooksModule } from '@app/webhooks';
import { Failure } from './output.js';

/** What a command asks for a rule: `rules.get(Offboarding)`. */
export type Rules = Pick<INestApplicationContext, 'get'>;

class RulesModule {}

/** The rules on this connection. */
export function rulesOn(db: Database, env: Env): Promise<Rules> {
  const imports = [
    ConfigModule.forRoot(env),
    DatabaseModule.on(db),
    AccessModule,
    BillingModule,
    ErasureModule,
    PublishingModule,
    WebhooksModule,
  ];
  const options = { logger: false, abortOnError: false } as const;
  return NestFactory.createApplicationContext({ module: RulesModule, imports }, options);
}

/** Waits until every replica that is read from shows what a command has written: commands need no Redis. */
export async function caughtUp(env: Env): Promise<void> {
  if (env.get('DATABASE_REPLICA_URLS').length > 0) await sleep(MOST_BEHIND);
}

/** Whose rights a command has. */
export type CommandRole = 'owner' | 'portal';

/** Runs the work with rules on a connection of its own. */
export async function withRules<T>(
  env: Env,
  role: CommandRole,
  work: (rules: Rules) => Promise<T>,
  applicationName = 'tutoring cli',
): Promise<T> {
  const isOwner = role === 'owner';
  const url = isOwner ? env.migrationUrl : portalUrl(env);
  const dataSource = await connect({ url, poolSize: 2, applicationName, limited: isOwner, direct: isOwner });
  try {
    const done = await work(await rulesOn(new Database(dataSource), env));
    await caughtUp(env);
    return done;
  } catch (error) {
    throw DatabaseFault.of(error, url) ?? error;
  } finally {
    await dataSource.destroy();
  }
}

/** On a laptop one role may serve all. @throws Failure: another role than the portal's lacks rights, or has too many */
function portalUrl(env: Env): string {
  const url = env.get('PORTAL_DATABASE_URL') ?? env.get('DATABASE_URL');
  if (url !== null && (env.get('PORTAL_DATABASE_URL') !== null || url === env.migrationUrl)) return url;
  throw new Failure("PORTAL_DATABASE_URL is not set: this command works under the portal's role, not the owner's");
}
