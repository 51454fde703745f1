-- A database for statements that name it. One page of the shared server may need it.
create database crm;
