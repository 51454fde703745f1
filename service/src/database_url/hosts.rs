//! The hosts of a URL, one by one. Pure.

use tokio_postgres::Config;
use tokio_postgres::config::{Host, TargetSessionAttrs};

/// The settings of each host, if the URL has several hosts and requires the primary.
pub fn of_primary(config: &Config) -> Vec<Config> {
    let count = config.get_hosts().len().max(config.get_hostaddrs().len());
    if count < 2 || config.get_target_session_attrs() != TargetSessionAttrs::ReadWrite {
        return Vec::new();
    }
    (0..count).map(|index| with_single_host(config, index)).collect()
}

/// The settings with only one of the hosts.
fn with_single_host(config: &Config, index: usize) -> Config {
    let mut one = Config::new();
    match config.get_hosts().get(index) {
        Some(Host::Tcp(name)) => drop(one.host(name)),
        Some(Host::Unix(folder)) => drop(one.host_path(folder)),
        None => {}
    }
    if let Some(address) = config.get_hostaddrs().get(index) {
        one.hostaddr(*address);
    }
    if let Some(port) = config.get_ports().get(index).or_else(|| config.get_ports().first()) {
        one.port(*port);
    }
    if let Some(user) = config.get_user() {
        one.user(user);
    }
    if let Some(password) = config.get_password() {
        one.password(password);
    }
    if let Some(database) = config.get_dbname() {
        one.dbname(database);
    }
    if let Some(options) = config.get_options() {
        one.options(options);
    }
    if let Some(name) = config.get_application_name() {
        one.application_name(name);
    }
    if let Some(timeout) = config.get_connect_timeout() {
        one.connect_timeout(*timeout);
    }
    if let Some(timeout) = config.get_tcp_user_timeout() {
        one.tcp_user_timeout(*timeout);
    }
    if let Some(interval) = config.get_keepalives_interval() {
        one.keepalives_interval(interval);
    }
    if let Some(retries) = config.get_keepalives_retries() {
        one.keepalives_retries(retries);
    }
    one.keepalives(config.get_keepalives()).keepalives_idle(config.get_keepalives_idle());
    one.ssl_mode(config.get_ssl_mode()).ssl_negotiation(config.get_ssl_negotiation());
    one.channel_binding(config.get_channel_binding()).load_balance_hosts(config.get_load_balance_hosts());
    one.target_session_attrs(config.get_target_session_attrs());
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(url: &str) -> Vec<Config> {
        of_primary(&url.parse().expect("a good URL"))
    }

    #[test]
    fn only_several_hosts_have_a_primary() {
        assert_eq!(hosts("postgres://db1/crm?target_session_attrs=read-write"), []);
        assert_eq!(hosts("postgres://db1,db2/crm"), []);
        assert_eq!(hosts("postgres://db1,db2/crm?target_session_attrs=read-only"), []);
        assert_eq!(hosts("postgres://db1,db2/crm?target_session_attrs=read-write").len(), 2);
    }

    #[test]
    fn each_host_keeps_every_setting() {
        let settings = "target_session_attrs=read-write&options=-c%20work_mem%3D8MB&application_name=a&connect_timeout=1\
            &tcp_user_timeout=2&keepalives=1&keepalives_idle=3&keepalives_interval=4&keepalives_retries=5\
            &sslmode=require&sslnegotiation=direct&channel_binding=require&load_balance_hosts=random";
        let found = hosts(&format!("postgres://u:p@db1:1,db2:2,db3:3/crm?{settings}"));
        for (found, host) in found.iter().zip(["db1:1", "db2:2", "db3:3"]) {
            let expected: Config =
                format!("postgres://u:p@{host}/crm?{settings}").parse().expect("a good URL");
            assert_eq!(*found, expected);
        }
        let found = hosts("host=db1,/run hostaddr=::1,::2 port=7 target_session_attrs=read-write");
        let expected = "host=/run hostaddr=::2 port=7 target_session_attrs=read-write";
        assert_eq!(found[1], expected.parse().expect("valid keywords"));
    }
}
